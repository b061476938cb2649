// Tokens, idempotent requests, the clock and the event feed in Neo4j. Event ids grow with time: all events from before the
// oldest open transaction are visible, so the feed ends there and none arrives late.
import { createHash } from 'node:crypto'
import type { JobEvent } from '../../job/event.ts'
import type {
  AccessStore,
  BegunRequest,
  ClockReading,
  FeedEvent,
  NewToken,
  RequestKey,
  TokenRecord,
} from '../access-store.ts'
import { notSupported } from '../capability.ts'
import { type Graph, openGraph, type Row, type Run } from './graph/graph.ts'
import { namesOf } from './graph/node-names.ts'
import type { Neo4jStoreOptions } from './neo4j-store.ts'
import { toInteger } from './state/job-node.ts'
import { fromBody, toBody } from './state/record-body.ts'
import { EVENT_IDS_PER_MS, toEvent } from './state/state-part.ts'

/** A long query must not stop the feed: after this time, events that are not visible yet may be missed. */
const MAX_BEHIND_MS = 10_000
const STALE_REQUEST_MS = 60_000
const ATTACHMENT = 'embedding'

export function createNeo4jAccess(options: Omit<Neo4jStoreOptions, 'policy'>): AccessStore {
  const graph = openGraph({ ...options, names: namesOf(options.label, options.table) })
  return {
    hasOrderedEvents: true,
    ...bindFeed(graph),
    ...bindTokens(graph),
    ...bindRequests(graph),
    listAuditEntries: async () => {
      throw notSupported('Neo4j', 'audit')
    },
  }
}

type FeedVerbs = Pick<
  AccessStore,
  'readClock' | 'findEventsStart' | 'lastEventIds' | 'listNewEvents' | 'listLateEvents' | 'readHorizon'
>

function bindFeed(graph: Graph): FeedVerbs {
  const between = async (run: Run, after: string, before: number, limit: number) => {
    const bounds = { after: toInteger(Number(after)), before: toInteger(before), limit: toInteger(limit) }
    return (await run('list_events_between', bounds)).map((row) => toFeedEvent(toEvent(row)))
  }
  return {
    readClock: () =>
      graph.read(async (run): Promise<ClockReading> => {
        const { nowMs, before } = await readHorizon(run)
        return { now: new Date(nowMs), lastEventId: await lastEventId(run, before, 0) }
      }),
    findEventsStart: (events) =>
      graph.read(async (run) => lastEventId(run, (await readHorizon(run)).before, events)),
    lastEventIds: () =>
      graph.read(async (run) => [await lastEventId(run, (await readHorizon(run)).before, 0)]),
    listNewEvents: (afterId, limit) =>
      graph.read(async (run) => between(run, afterId, (await readHorizon(run)).before, limit)),
    listLateEvents: async (ids) => {
      if (ids.length === 0) return []
      const wanted = new Set(ids)
      const numbers = ids.map(Number)
      const [least, most] = [Math.min(...numbers), Math.max(...numbers)]
      const found = await graph.read((run) => between(run, String(least - 1), most + 1, MAX_LATE))
      return found.filter(({ id }) => wanted.has(id))
    },
    // No event arrives late.
    readHorizon: async () => ({ oldestXid: 0n, nextXid: 0n }),
  }
}

const MAX_LATE = 20_000

async function readHorizon(run: Run): Promise<{ nowMs: number; before: number }> {
  const [row] = await run('read_open_since')
  const nowMs = Number(row?.['now'])
  const openMs = Math.min(Number(row?.['since'] ?? nowMs), nowMs)
  return { nowMs, before: Math.max(openMs, nowMs - MAX_BEHIND_MS) * EVENT_IDS_PER_MS }
}

async function lastEventId(run: Run, before: number, skip: number): Promise<string> {
  const [row] = await run('read_last_event', { before: toInteger(before), skip: toInteger(skip) })
  return String(Number(row?.['id'] ?? 0))
}

function toFeedEvent(event: JobEvent): FeedEvent {
  return { ...event, attachment: ATTACHMENT }
}

interface Token extends TokenRecord {
  sha256: string
}

type TokenVerbs = Pick<AccessStore, 'createToken' | 'findToken' | 'listTokens' | 'revokeToken'>

function bindTokens(graph: Graph): TokenVerbs {
  return {
    createToken: (token) =>
      graph.write(async (run) => {
        const { nowMs } = await readTokens(run)
        return writeRecord(run, tokenPath(token.name), 'tokens', null, toBody(newToken(token, nowMs)))
      }),
    findToken: (sha256) =>
      graph.read(async (run) => {
        const { nowMs, tokens } = await readTokens(run)
        const isValid = ({ expiresAt }: Token) => expiresAt === null || expiresAt.getTime() > nowMs
        const found = tokens.find((token) => token.sha256 === sha256 && isValid(token)) ?? null
        return found === null || found.revokedAt === null ? found : 'revoked'
      }),
    listTokens: () =>
      graph.read(async (run) => {
        const { tokens } = await readTokens(run)
        return tokens
          .map(({ sha256: _digest, ...token }) => token)
          .toSorted((a, b) => (a.name < b.name ? -1 : 1))
      }),
    revokeToken: (name) =>
      graph.write(async (run) => {
        const { nowMs, tokens } = await readTokens(run)
        const token = tokens.find((one) => one.name === name && one.revokedAt === null)
        if (token === undefined) return false
        const revoked = toBody({ ...token, revokedAt: new Date(nowMs) })
        return writeRecord(run, tokenPath(name), 'tokens', toBody(token), revoked)
      }),
  }
}

const tokenPath = (name: string) => `tokens/${name}`

function newToken({ name, sha256, scopes, owner, expiresInMs, actor }: NewToken, nowMs: number): Token {
  return {
    name,
    sha256,
    scopes: [...scopes],
    owner: owner ?? null,
    createdAt: new Date(nowMs),
    createdBy: actor ?? null,
    expiresAt: expiresInMs === undefined ? null : new Date(nowMs + expiresInMs),
    revokedAt: null,
  }
}

async function readTokens(run: Run): Promise<{ nowMs: number; tokens: Token[] }> {
  const [row] = await run('read_records', { kinds: ['tokens'] })
  const records = (row?.['records'] ?? []) as Row[]
  return { nowMs: Number(row?.['now']), tokens: records.map(({ body }) => fromBody(body as string) as Token) }
}

/** False if the record no longer equals `before`. */
async function writeRecord(
  run: Run,
  path: string,
  kind: string,
  before: string | null,
  body: string,
): Promise<boolean> {
  const [row] = await run('write_records', { rows: [{ path, kind, before, body }] })
  return Number(row?.['written']) === 1
}

interface KnownRequest {
  sha256: string
  begunAt: Date
  status: number | null
  answer: string | null
}

type RequestVerbs = Pick<AccessStore, 'beginRequest' | 'finishRequest' | 'forgetRequest'>

/** Locks each record before reading it. Yesterday's records are removed by retention. */
function bindRequests(graph: Graph): RequestVerbs {
  return {
    beginRequest: ({ sha256, ...request }) =>
      graph.write(async (run): Promise<BegunRequest> => {
        const { path, nowMs, known } = await lockRequest(run, request)
        if (known !== null && known.sha256 !== sha256) return { outcome: 'reused' }
        if (known !== null && known.status !== null)
          return { outcome: 'answered', status: known.status, answer: known.answer ?? '' }
        if (known !== null && known.begunAt.getTime() > nowMs - STALE_REQUEST_MS)
          return { outcome: 'in-progress' }
        const begun: KnownRequest = { sha256, begunAt: new Date(nowMs), status: null, answer: null }
        await run('write_request', { path, body: toBody(begun) })
        return { outcome: 'begun' }
      }),
    finishRequest: ({ status, answer, ...request }) =>
      graph.write(async (run) => {
        const { path, known } = await lockRequest(run, request)
        if (known !== null) await run('write_request', { path, body: toBody({ ...known, status, answer }) })
      }),
    forgetRequest: (request) =>
      graph.write(async (run) => {
        const { path, body } = await lockRequest(run, request)
        await run('delete_records', { rows: [{ path, before: body }] })
      }),
  }
}

async function lockRequest(run: Run, { actor, key }: RequestKey) {
  const path = `requests/${createHash('sha256').update(`${actor}\n${key}`).digest('hex')}`
  const [record] = await run('lock_records', { paths: [path] })
  const [clock] = await run('read_records', { kinds: [] })
  const body = (record?.['body'] ?? null) as string | null
  const known = body === null ? null : (fromBody(body) as KnownRequest)
  return { path, nowMs: Number(clock?.['now']), body, known }
}
