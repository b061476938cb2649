-- Private: stable and not immutable, as adding an interval is: PostgreSQL would not inline it otherwise.
create or replace function "unstuck".after_ms(p_at timestamptz, p_ms float8)
returns timestamptz language sql stable
return p_at + p_ms * interval '1 millisecond';
