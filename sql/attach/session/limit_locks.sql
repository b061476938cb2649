set lock_timeout = '2s';
