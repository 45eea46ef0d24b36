"""Progress bars: drawn for people only, and never in the way of the loop."""

import io
import sys
import threading
from contextlib import redirect_stderr

import pytest

from gramian.progress import progress, steps


class Terminal(io.StringIO):
    """A stream that claims to be a terminal and keeps what was drawn."""

    def isatty(self) -> bool:
        return True


@pytest.fixture
def terminal(monkeypatch):
    """Standard error as a wide terminal; entered in the test, as pytest swaps the streams after set-up."""
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLUMNS", "100")
    return redirect_stderr(Terminal())


@pytest.mark.parametrize("kind", [list, iter, set], ids=["list", "iterator", "set"])
@pytest.mark.parametrize("verbose", [0, 1])
def test_items_pass_through_unchanged(kind, verbose, terminal):
    """A loop sees the same items in the same order, drawn or not, sized or not."""
    with terminal:
        seen = list(progress(kind([3, 1, 2]), "Looping", verbose=verbose))
    assert seen == list(kind([3, 1, 2]))


def test_label_and_count_are_drawn_on_a_terminal(terminal):
    """On a terminal the bar names the loop and ends at the full count."""
    with terminal as screen:
        for _ in progress(range(4), "Fitting mixtures", verbose=1):
            pass
    assert "Fitting mixtures" in screen.getvalue()
    assert "4/4" in screen.getvalue()


def test_explicit_total_serves_generators(terminal):
    """A generator cannot tell its length, so ``total`` gives the count to reach."""
    with terminal as screen:
        list(progress((n for n in range(5)), "Reading", total=5, verbose=1))
    assert "5/5" in screen.getvalue()


def test_verbose_zero_is_silent_on_a_terminal(terminal):
    """``verbose=0`` draws nothing even when a person could read it."""
    with terminal as screen:
        items = list(progress(range(3), "Quiet", verbose=0))
    assert items == [0, 1, 2]
    assert screen.getvalue() == ""


@pytest.mark.parametrize("stream", [io.StringIO(), None], ids=["pipe", "absent"])
def test_silent_without_a_terminal(stream, monkeypatch, capsys):
    """A pipe, a log file or an absent standard error receive nothing."""
    monkeypatch.setattr(sys, "stderr", stream)
    assert list(progress(range(3), "Piped", verbose=1)) == [0, 1, 2]
    assert stream is None or stream.getvalue() == ""
    assert capsys.readouterr().out == ""


def test_closed_standard_error_is_no_terminal(monkeypatch):
    """A closed stream counts as no terminal instead of raising."""
    stream = Terminal()
    stream.close()
    monkeypatch.setattr(sys, "stderr", stream)
    assert list(progress(range(2), "Closed", verbose=1)) == [0, 1]


def test_nested_loops_share_one_display(terminal):
    """Loops inside loops all show, and both yield everything."""
    with terminal as screen:
        pairs = [
            (i, j)
            for i in progress(range(2), "Outer loop", verbose=1)
            for j in progress(range(3), "Inner loop", verbose=1)
        ]
    assert len(pairs) == 6
    assert "Outer loop" in screen.getvalue()
    assert "2/2" in screen.getvalue()


def test_concurrent_loops_do_not_break_each_other(terminal):
    """Threads may show bars at the same time and finish in any order."""
    with terminal:
        done = []
        threads = [
            threading.Thread(target=lambda: done.append(sum(progress(range(50), "Thread", verbose=1))))
            for _ in range(4)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert done == [1225] * 4


def test_an_error_in_the_loop_closes_the_display(terminal):
    """The loop's own error comes through, and the next loop draws again."""
    with terminal as screen:
        with pytest.raises(ZeroDivisionError):
            _ = [1 / item for item in progress([1, 0], "Failing", verbose=1)]
        list(progress(range(7), "Afterwards", verbose=1))
    assert "7/7" in screen.getvalue()


def test_leaving_early_closes_the_display(terminal):
    """``break`` ends the bar, so that what follows is not overdrawn."""
    with terminal as screen:
        for item in progress(range(100), "Breaking", verbose=1):
            if item == 2:
                break
        list(progress(range(9), "Next", verbose=1))
    assert "9/9" in screen.getvalue()


def test_steps_move_by_the_given_amount(terminal):
    """Uneven steps add up to the total."""
    with terminal as screen, steps("Reading rows", total=10, verbose=1) as advance:
        advance(4)
        advance()
        advance(5)
    assert "10/10" in screen.getvalue()


def test_a_silent_loop_does_without_rich(monkeypatch):
    """Nothing of rich is imported for a loop that draws nothing."""
    monkeypatch.setitem(sys.modules, "rich.console", None)
    monkeypatch.setitem(sys.modules, "rich.progress", None)
    with redirect_stderr(io.StringIO()):
        assert list(progress(range(3), "Piped", verbose=1)) == [0, 1, 2]
    assert list(progress(range(3), "Quiet")) == [0, 1, 2]
