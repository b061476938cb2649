-- Private: refuses an invalid argument with one error.
create or replace function "unstuck".refuse(p_name text, p_got text, p_takes text)
returns boolean language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  raise exception using
    errcode = 'UN001',
    message = format('%s: got %s, takes %s', p_name, coalesce(left(p_got, 60), 'NULL'), p_takes);
end
$$;

-- Private: refuses an invalid argument before anything is written. Inlined: a claim checks six of them.
create or replace function "unstuck".require(p_ok boolean, p_name text, p_got text, p_takes text)
returns boolean language sql stable
return case when p_ok then true else "unstuck".refuse(p_name, p_got, p_takes) end;

-- Private: checks for a one-dimensional array without NULL.
create or replace function "unstuck".require_list(p_list anyarray, p_name text, p_takes text)
returns boolean language sql stable as $$
  select "unstuck".require(
    p_list is not null and coalesce(pg_catalog.array_ndims(p_list), 1) = 1
      and pg_catalog.array_position(p_list, null) is null,
    p_name, p_list::text, p_takes || ' in an array of one dimension, none of them NULL')
$$;

-- Private: is this text a valid id of the given type? NULL for NULL.
create or replace function "unstuck".is_id(p_text text, p_type text)
returns boolean language sql immutable
return case p_type
    when 'uuid' then p_text ~* '^[0-9a-f]{4}(-?[0-9a-f]{4}){7}$'
    when 'bigint' then p_text ~ '^-?[0-9]{1,18}$'
      or (p_text ~ '^-?[0-9]{19}$' and p_text::numeric between -9223372036854775808 and 9223372036854775807)
    else p_text <> ''
  end;

-- Private: is this text an ISO 8601 time with a zone, on an existing day?
create or replace function "unstuck".is_iso_time(p_text text)
returns boolean language sql immutable
return case
    when p_text !~ ('^(?!0000)[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])[T ]([01][0-9]|2[0-3]):[0-5][0-9]'
                    || '(:[0-5][0-9]([.][0-9]{1,9})?)?([Zz]|[+-](0[0-9]|1[0-4])(:?[0-5][0-9])?)$')
      then false
    -- The 31st of February, counted from the 1st, is in March.
    else extract(month from make_date(left(p_text, 4)::int, substr(p_text, 6, 2)::int, 1)
                              + (substr(p_text, 9, 2)::int - 1)) = substr(p_text, 6, 2)::int
  end;

-- Private: checks the limit of counts.
create or replace function "unstuck".require_count_limit(p_limit int)
returns boolean language plpgsql immutable set search_path = pg_catalog, pg_temp as $$
begin
  return "unstuck".require(p_limit between 1 and 1000000, 'count_limit', p_limit::text,
                           'a whole number from 1 to 1000000');
end
$$;
