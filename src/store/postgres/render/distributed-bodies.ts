// Citus plans no statement of a LANGUAGE sql function that has parameters and reads a distributed table (docs/adr/0039). In a
// distributed schema such functions are PL/pgSQL, which costs them their inlining; elsewhere they stay as written.

const sqlFunction = /(create or replace function[^$]*?)\blanguage sql\b([^$]*?as )\$\$\n([\s\S]*?)\n\$\$;/g

/** The body of each LANGUAGE sql function as PL/pgSQL. Bodies bound at creation read no table, and stay. */
export function withPlpgsqlBodies(sql: string): string {
  return sql.replaceAll(sqlFunction, (_, head: string, settings: string, body: string) => {
    const hasRows = /\breturns (setof|table)\b/.test(head + settings)
    const returned = hasRows ? `return query\n${body};` : `return (\n${body});`
    return `${head}language plpgsql${settings}$$\n#variable_conflict use_column\nbegin\n${returned}\nend\n$$;`
  })
}
