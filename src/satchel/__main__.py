"""`python -m satchel`."""

import sys

from satchel.serving.cli import main

sys.exit(main())
