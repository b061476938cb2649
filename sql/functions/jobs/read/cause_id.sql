-- A short id of the cause of a dead letter: its code and its reason without the parts that vary (addresses, ids,
-- quoted text, numbers). Character classes are spelled out, because \s and \w depend on the locale of the database.
create or replace function "unstuck".cause_id(p_code text, p_reason text)
returns text language sql stable
return left(encode(sha256(convert_to(coalesce(p_code, '') || chr(10) ||
    regexp_replace(regexp_replace(regexp_replace(regexp_replace(regexp_replace(regexp_replace(
      left(coalesce(p_reason, ''), 500),
      E'[A-Za-z][A-Za-z0-9+.-]*://[^ \t\r\n"''<>]+', '<url>', 'g'),
      '[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}', '<id>', 'g'),
      '(?<![A-Za-z0-9_])("[^"]*"|''[^'']*''|`[^`]*`)(?![A-Za-z0-9_])', '<text>', 'g'),
      '(?<![A-Za-z0-9])[0-9A-Fa-f]{8,}(?![A-Za-z0-9])', '<id>', 'g'),
      '[0-9]+', '<n>', 'g'),
      E'[ \t\r\n]+', ' ', 'g'), 'UTF8')), 'hex'), 8);
