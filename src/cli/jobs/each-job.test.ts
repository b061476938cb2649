import { describe, expect, it } from 'vitest'
import { scopes } from '../../commands/actor.ts'
import type { CommandContext } from '../../commands/command.ts'
import { createMemoryStore } from '../../store/memory/index.ts'
import { eachJob, fillPage } from './each-job.ts'

async function contextWith(count: number): Promise<CommandContext> {
  const store = createMemoryStore()
  await store.enqueueJobs(Array.from({ length: count }, () => ({ type: 'asr' })))
  return { actor: { id: 'ana', scopes }, isReadOnly: false, tables: [{ name: 'jobs', store }] }
}

describe('jobs, page by page', () => {
  it('OPS-9 every job comes once, over pages, up to the limit', async () => {
    const context = await contextWith(1_100)
    const seen = new Set<string>()
    for await (const { id } of eachJob(context, { filter: { status: 'waiting' } })) seen.add(id)
    expect(seen.size).toBe(1_100)
    let count = 0
    for await (const _ of eachJob(context, { filter: {}, limit: 700 })) count += 1
    expect(count).toBe(700)
  })

  it('OPS-9 a page has as many jobs as were asked for, if there are as many', async () => {
    const context = await contextWith(30)
    const { jobs, next } = await fillPage(context, { filter: {}, limit: 20 })
    expect(jobs.length).toBe(20)
    const rest = await fillPage(context, { filter: {}, limit: 20, cursor: next ?? undefined })
    expect([rest.jobs.length, rest.next]).toEqual([10, null])
  })
})
