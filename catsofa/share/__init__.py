"""Publication of results and data: releases, the Hub, leaderboards, tasks for other evaluation programs."""
