select (extract(epoch from began_at) * 1000)::float8 as at_ms, hold_reason, held
  from unstuck.sweep_history where attachment = $1 and held > 0 order by began_at
