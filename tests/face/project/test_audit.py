import json
import subprocess
import sys

import pytest
from helpers import ROOT


@pytest.mark.slow
def test_no_pinned_version_has_a_vulnerability_that_is_known() -> None:
    """Every pin of constraints.txt is checked with the advisory service; if out of reach, the test is skipped with a
    reason.
    """
    pytest.importorskip("pip_audit")
    asked = ["-r", str(ROOT / "constraints.txt"), "--no-deps", "--disable-pip", "--format", "json", "--timeout", "10"]
    done = subprocess.run(
        [sys.executable, "-m", "pip_audit", *asked, "--progress-spinner", "off"], capture_output=True, text=True
    )
    try:
        packages = json.loads(done.stdout)["dependencies"]
    except ValueError:
        pytest.skip(f"the advisory service is out of reach: {done.stderr.strip().splitlines()[-1:]}")
    audited = [one for one in packages if "vulns" in one]
    if not audited:
        reasons = {one["skip_reason"].partition(":")[0] for one in packages}
        pytest.skip(f"nothing was audited, the service knows none of {len(packages)} packages: {', '.join(reasons)}")
    hurt = [f"{one['name']} {one['version']}: {vuln['id']}" for one in audited for vuln in one["vulns"]]
    assert not hurt, "; ".join(hurt)
