select "unstuck".oldest_client() as oldest
