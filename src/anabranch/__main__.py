"""``python -m anabranch``: the command line."""

import sys

from anabranch.cli.main import main

sys.exit(main())
