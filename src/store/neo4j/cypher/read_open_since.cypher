// When the oldest transaction began that may still write; and the time, which is before this look.
SHOW TRANSACTIONS YIELD startTime
RETURN min(datetime(startTime)).epochMillis AS since, datetime.statement().epochMillis AS now
