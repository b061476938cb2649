-- As settle_session found it.
select set_config('search_path', current_setting('unstuck.search_path'), false)
