SHOW PROCEDURES YIELD name
WHERE name = 'apoc.periodic.iterate'
RETURN count(*) AS found
