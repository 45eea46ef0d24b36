// Mouse, pen and touch: one pointer drags, two pinch, a short press picks. A finger that moves up or down scrolls the
// page, as everywhere; the wheel zooms only once the map has been clicked.
function watchPointers(stage, act) {
  const down = new Map();
  let pressed = null;
  const place = (event) => {
    const box = stage.getBoundingClientRect();
    return [event.clientX - box.left - stage.clientLeft, event.clientY - box.top - stage.clientTop];
  };
  const spread = () => {
    const [[ax, ay], [bx, by]] = [...down.values()];
    return { distance: Math.hypot(ax - bx, ay - by), x: (ax + bx) / 2, y: (ay + by) / 2 };
  };
  stage.addEventListener('pointerdown', (event) => {
    if (event.button > 0) return;
    stage.setPointerCapture(event.pointerId);
    down.set(event.pointerId, place(event));
    pressed = down.size === 1 ? { at: place(event), moved: false } : null;
  });
  stage.addEventListener('pointermove', (event) => {
    const now = place(event);
    const before = down.get(event.pointerId);
    if (!before) {
      if (event.pointerType !== 'touch') act.hover(...now);
      return;
    }
    if (down.size === 1) {
      if (pressed && !pressed.moved && Math.hypot(now[0] - pressed.at[0], now[1] - pressed.at[1]) < 5) return;
      if (pressed) pressed.moved = true;
      stage.classList.add('dragging');
      act.leave();
      down.set(event.pointerId, now);
      act.move(now[0] - before[0], now[1] - before[1]);
    } else if (down.size === 2) {
      const old = spread();
      down.set(event.pointerId, now);
      const next = spread();
      act.move(next.x - old.x, next.y - old.y);
      if (old.distance > 0) act.zoomAt(next.distance / old.distance, next.x, next.y);
    }
  });
  const release = (event) => {
    if (!down.delete(event.pointerId)) return;
    stage.classList.remove('dragging');
    if (event.type === 'pointerup' && pressed && !pressed.moved && down.size === 0) {
      act.pick(...pressed.at, event.pointerType === 'touch' ? 26 : 14);
    }
    if (down.size === 0) pressed = null;
  };
  stage.addEventListener('pointerup', release);
  stage.addEventListener('pointercancel', release);
  stage.addEventListener('pointerleave', act.leave);
  stage.addEventListener('wheel', (event) => {
    if (!event.ctrlKey && document.activeElement !== stage) return;
    event.preventDefault();
    act.zoomAt(Math.exp(-event.deltaY * (event.ctrlKey ? 0.01 : 0.0015)), ...place(event));
  }, { passive: false });
}
