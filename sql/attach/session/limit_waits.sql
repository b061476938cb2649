set lock_timeout = '1min';
