-- Private: a list has one dimension and no NULL in it.
create or replace function "unstuck".require_list(p_list anyarray, p_name text, p_takes text)
returns boolean language plpgsql immutable as $$
begin
  return "unstuck".require(
    p_list is not null and coalesce(array_ndims(p_list), 1) = 1 and array_position(p_list, null) is null,
    p_name, p_list::text, p_takes || ' in an array of one dimension, none of them NULL');
end
$$;
