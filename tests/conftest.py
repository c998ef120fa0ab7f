"""What all tests share.

Random tests choose their cases: the same ones every time where the answer decides, new ones at the desk.
"""

import os

from hypothesis import settings

pytest_plugins = ["tests.spark.session"]  # one Spark session for whoever asks for it

settings.register_profile("ci", derandomize=True, deadline=None, print_blob=True)
settings.register_profile("desk", deadline=None, print_blob=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE") or ("ci" if os.environ.get("CI") else "desk"))
