"""What pages have in common: a policy that lets only the page's own script run, and JSON that stays inside."""

import hashlib
import json
from base64 import b64encode

from gramian.report.html import how_made, json_for_script, policy, scripts, style_sheet, templates


def test_the_policy_names_the_digests_of_style_and_script():
    script = scripts(("page", "learned"))
    told = policy(style_sheet(), script)
    assert b64encode(hashlib.sha256(script.encode()).digest()).decode() in told
    assert told.startswith("default-src 'none'")


def test_json_cannot_leave_its_script():
    text = json_for_script({"cell": "</script><script>alert(1)</script>&\u2028"})
    assert not set("<>&\u2028") & set(text)
    assert json.loads(text) == {"cell": "</script><script>alert(1)</script>&\u2028"}


def test_what_was_made_is_said_in_lists():
    told = how_made({"parameters": {"seed": 0, "kind": None}, "notes": ["one"], "free": 3.5})
    assert told == [("Parameters", [("seed", "0"), ("kind", "none")]), ("Notes", ["one"]), ("Also", [("Free", "3.5")])]


def test_templates_escape_what_they_are_given():
    assert (
        templates().from_string("{{ text | sentence }}").render(text="<b>a_long_name</b>")
        == "&lt;b&gt;a_<wbr>long_<wbr>name&lt;/b&gt;"
    )
