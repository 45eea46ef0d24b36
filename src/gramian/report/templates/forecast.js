// The page of a forecast: nothing but the theme moves.

startTheme(() => {});
document.documentElement.classList.add('live');
