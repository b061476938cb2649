-- Private: does the type of a table's ids read this text? With NULL there is no answer.
create or replace function "unstuck".is_id(p_text text, p_type text)
returns boolean language sql immutable
return case p_type
    when 'uuid' then p_text ~* '^[0-9a-f]{4}(-?[0-9a-f]{4}){7}$'
    when 'bigint' then p_text ~ '^-?[0-9]{1,18}$'
      or (p_text ~ '^-?[0-9]{19}$' and p_text::numeric between -9223372036854775808 and 9223372036854775807)
    else p_text <> ''
  end;
