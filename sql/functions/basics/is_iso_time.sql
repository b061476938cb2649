-- Private: is this text a time with its zone, as ISO 8601 writes it, on a day that there is?
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
