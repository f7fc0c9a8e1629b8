"""Questions, relations and aggregates as frozen nodes, which the parser, the planner and the engines share."""
