// The plans of the statements inside a function, as they really run: auto_explain sends them to the client as messages.
import type pg from 'pg'

export interface PlanNode {
  'Node Type': string
  'Relation Name'?: string
  'Index Name'?: string
  'Actual Rows': number
  'Actual Loops': number
  Filter?: string
  'Shared Hit Blocks': number
  'Shared Read Blocks': number
  Plans?: PlanNode[]
}

export interface NestedPlan {
  text: string
  plan: PlanNode
}

/** Innermost first, the call itself last. Runs in a transaction that is rolled back, and leaves its row versions. */
export async function nestedPlans(client: pg.Client, call: string, params: unknown[]): Promise<NestedPlan[]> {
  const plans: NestedPlan[] = []
  const collect = ({ message }: { message?: string | undefined }) => {
    const [, json] = /^duration: [^{]*plan:\s*(\{[\s\S]*\})\s*$/.exec(message ?? '') ?? []
    if (json === undefined) return
    const { 'Query Text': text, Plan: plan } = JSON.parse(json) as { 'Query Text': string; Plan: PlanNode }
    plans.push({ text, plan })
  }
  await client.query('begin')
  client.on('notice', collect)
  try {
    await client.query(call, params)
  } finally {
    // The plan of the call itself comes when its portal is closed, with the end of the transaction.
    await client.query('rollback')
    client.off('notice', collect)
  }
  return plans
}

/** For one connection. Needs the rights of a superuser. */
export async function switchOnNestedPlans(client: pg.Client): Promise<void> {
  await client.query(`
    load 'auto_explain';
    set auto_explain.log_min_duration = 0;
    set auto_explain.log_nested_statements = on;
    set auto_explain.log_analyze = on;
    set auto_explain.log_timing = off;
    set auto_explain.log_buffers = on;
    set auto_explain.log_format = json;
    set client_min_messages = log`)
}

/** Every scan of a table by the name of the index it uses; `seq scan` where it uses none. */
export function accessPaths(plans: NestedPlan[], table: string): Set<string> {
  const paths = new Set<string>()
  // A bitmap index scan does not name its table; the heap scan above it does.
  const visit = (node: PlanNode, heap?: string) => {
    const isBitmap = node['Node Type'] === 'Bitmap Heap Scan'
    if (node['Relation Name'] === table && /Scan/.test(node['Node Type']) && !isBitmap) {
      paths.add(node['Index Name'] ?? (node['Node Type'] === 'Tid Scan' ? 'tid scan' : 'seq scan'))
    }
    if (node['Node Type'] === 'Bitmap Index Scan' && heap === table) paths.add(String(node['Index Name']))
    for (const child of node.Plans ?? []) visit(child, isBitmap ? node['Relation Name'] : heap)
  }
  for (const { plan } of plans) visit(plan)
  return paths
}

/** Pages of the whole call, from memory or disk. The call itself is the last plan and holds those inside it. */
export function pagesOf(plans: NestedPlan[]): number {
  const call = plans.at(-1)?.plan
  return (call?.['Shared Hit Blocks'] ?? 0) + (call?.['Shared Read Blocks'] ?? 0)
}

/** Every node that scans the table by this index, in all statements of the call. */
export function scansOf(plans: NestedPlan[], index: string): PlanNode[] {
  const within = (node: PlanNode): PlanNode[] => [node, ...(node.Plans ?? []).flatMap(within)]
  return plans.flatMap(({ plan }) => within(plan)).filter((node) => node['Index Name'] === index)
}
