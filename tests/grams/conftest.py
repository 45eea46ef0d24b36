"""Every Gram case runs on the views its class names."""


def pytest_generate_tests(metafunc):
    """One test per view for those that ask for ``views``."""
    if "views" in metafunc.fixturenames:
        metafunc.parametrize("views", metafunc.cls.views, ids=lambda views: ".".join(views) or "itself")
