-- Private: the payload of a job whose table holds parts of it in columns. A payload that is no object stands alone.
create or replace function "unstuck".payload_with(p_payload jsonb, p_columns jsonb)
returns jsonb language sql immutable
return case coalesce(jsonb_typeof(p_payload), 'null')
         when 'null' then p_columns
         when 'object' then p_columns || p_payload
         else p_payload
       end;
