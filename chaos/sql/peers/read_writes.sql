select job, kind, who, spent, extract(epoch from at)::float8 * 1000 as at from chaos.writes order by id
