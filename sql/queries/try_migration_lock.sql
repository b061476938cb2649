select pg_try_advisory_lock(hashtext('unstuck migrate'), hashtext(/*schema*/'unstuck')) as is_mine
