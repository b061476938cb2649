-- What stands on a team's table finds the names of the team again.
reset search_path;
