interface PlanNode {
  'Node Type': string
  'Relation Name'?: string
  'Index Name'?: string
  Plans?: PlanNode[]
}

/** How an EXPLAIN (format json) plan reads the table: names of indexes, or `seq scan`. */
export function indexesUsed(explained: unknown, table: string): string[] {
  const [{ Plan: plan } = {}] = explained as [{ Plan?: PlanNode }?]
  const used = new Set<string>()
  const visit = (node: PlanNode) => {
    if (node['Index Name'] !== undefined) used.add(node['Index Name'])
    else if (node['Relation Name'] === table && node['Node Type'] === 'Seq Scan') used.add('seq scan')
    for (const child of node.Plans ?? []) visit(child)
  }
  if (plan !== undefined) visit(plan)
  return [...used]
}
