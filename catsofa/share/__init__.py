"""Ways out: releases, the hub, leaderboards, other evaluation programs."""
