-- The search path of the caller, which triggers of the team rely on.
reset search_path;
