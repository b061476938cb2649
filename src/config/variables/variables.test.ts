import { describe, expect, it } from 'vitest'
import type { Policy } from '../../policy/policy.ts'
import { shippedPolicy, shippedProfileNames } from '../../profile/shipped.ts'
import { readText } from './value-kind.ts'
import { defaultOf, variables, variablesOf } from './variables.ts'

/** Every environment variable that the source documents name. */
const namedByDocuments = `
  REAPER_INTERVAL_SEC JOB_MAX_ATTEMPTS DEFAULT_LEASE_SEC CLIP_SLA_FACTOR ASR_SLA_FACTOR BURNIN_SLA_FACTOR HEARTBEAT_SEC
  QUEUE_MAX_ATTEMPTS QUEUE_VISIBILITY_SEC QUEUE_RETRY_BACKOFF_MS_BASE QUEUE_RETRY_BACKOFF_MS_MAX
  EMBED_JOB_RETENTION_DAYS
  RETRY_MAX_ATTEMPTS RETRY_BASE_DELAY_MS RETRY_JITTER_MAX_MS WORKER_LEASE_TTL_SEC GATEWAY_TIMEOUT_MS WORKER_CONCURRENCY
  CIRCUIT_WINDOW CIRCUIT_FAIL_THRESHOLD CIRCUIT_COOLDOWN_MS DATABASE_URL GATEWAY_URL UPLOADS_DIR RESULTS_DIR`

describe('the table of variables', () => {
  it('OPS-8 holds every variable of the documents, each once', () => {
    const names = variables.map(({ name }) => name)
    expect(names).toEqual(expect.arrayContaining(namedByDocuments.trim().split(/\s+/)))
    expect(new Set(names).size).toBe(names.length)
  })

  it('OPS-8 has only defaults that the variable itself would take', () => {
    const refused = variables.filter((variable) =>
      shippedProfileNames.some((profile) => {
        const text = defaultOf(variable, profile)
        return text !== null && readText(variable.kind, text) === undefined
      }),
    )
    expect(refused).toEqual([])
  })

  it.each(shippedProfileNames)('OPS-8 names the numbers of the %s policy', (profile) => {
    for (const variable of variablesOf(profile)) {
      const text = defaultOf(variable, profile)
      for (const setting of variable.sets) {
        const [group, field, stage] = setting.split('.')
        if (group !== 'policy' || text === null) continue
        const value: unknown = shippedPolicy(profile)[field as keyof Policy]
        const inForce = stage === undefined ? value : (value as Record<string, number>)[stage]
        expect([variable.name, readText(variable.kind, text)]).toEqual([variable.name, inForce])
      }
    }
  })

  it('OPS-8 takes an address of every scheme that it promises', () => {
    for (const { name, kind } of variables) {
      if (kind.type !== 'url') continue
      const urls = kind.protocols.map((protocol) => `${protocol}//user:secret@host:7687/jobs`)
      expect([name, ...urls.map((url) => readText(kind, url))]).toEqual([name, ...urls])
    }
  })

  it.each(['neo4j', 'neo4j+s', 'neo4j+ssc', 'bolt', 'bolt+s', 'bolt+ssc'])(
    'OPS-8 takes %s:// for the database of the jobs, which the Neo4j store opens',
    (scheme) => {
      const variable = variables.find(({ name }) => name === 'UNSTUCK_DATABASE_URL')
      const url = `${scheme}://neo4j:secret@localhost:7687`
      expect(variable && readText(variable.kind, url)).toBe(url)
    },
  )

  it('OPS-8 says something about each variable: a sentence and a requirement', () => {
    for (const { name, meaning, requirement } of variables) {
      expect(`${name}: ${meaning}`).toMatch(/: [A-Z].*\.$/)
      expect(`${name}: ${requirement}`).toMatch(/: [A-Z]+-\d+$/)
    }
  })
})
