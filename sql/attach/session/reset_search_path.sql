-- Back to the caller's own path, so that a team's triggers find their names.
reset search_path;
