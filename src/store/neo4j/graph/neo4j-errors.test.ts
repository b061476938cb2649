import { Neo4jError } from 'neo4j-driver'
import { describe, expect, it } from 'vitest'
import { requireVersion } from '../install.ts'
import { isCollision, retried, translated } from './neo4j-errors.ts'

const thrown = (code: string) => new Neo4jError('it failed', code, '50N42', 'it failed')

describe('errors of Neo4j', () => {
  it.each([
    ['Neo.ClientError.Security.Unauthorized', 'PERMISSION_DENIED', 'password'],
    ['Neo.ClientError.Security.CredentialsExpired', 'PERMISSION_DENIED', 'ALTER CURRENT USER'],
    ['Neo.ClientError.Cluster.NotALeader', 'DATABASE_UNREACHABLE', 'neo4j://'],
    ['Neo.ClientError.General.ForbiddenOnReadOnlyDatabase', 'DATABASE_UNREACHABLE', 'neo4j://'],
    ['Neo.ClientError.General.WriteOnReadOnlyAccessDatabase', 'DATABASE_UNREACHABLE', 'read-only'],
    ['Neo.ClientError.Procedure.ProcedureNotFound', 'NOT_INSTALLED', 'apoc-core'],
    ['Neo.TransientError.General.MemoryPoolOutOfMemoryError', 'DATABASE_OUT_OF_MEMORY', 'heap'],
    ['Neo.TransientError.General.OutOfMemoryError', 'DATABASE_OUT_OF_MEMORY', 'heap'],
  ])('OPS-8 %s arrives as %s, with what to do', async (state, code, hint) => {
    await expect(translated(() => Promise.reject(thrown(state)))).rejects.toMatchObject({
      code,
      details: { neo4jCode: state },
      hint: expect.stringContaining(hint),
    })
  })

  it.each([
    ['Neo.TransientError.Transaction.DeadlockDetected', 'DATABASE_CONFLICT'],
    ['Neo.TransientError.General.DatabaseUnavailable', 'DATABASE_UNREACHABLE'],
    ['ServiceUnavailable', 'DATABASE_UNREACHABLE'],
    ['SessionExpired', 'DATABASE_UNREACHABLE'],
  ])('OPS-8 %s arrives as %s, which may be tried again', async (state, code) => {
    await expect(translated(() => Promise.reject(thrown(state)))).rejects.toMatchObject({
      code,
      isRetryable: true,
    })
  })

  it('OPS-8 a server that does not answer is told in one sentence, with the driver’s words as the cause', async () => {
    const error = thrown('ServiceUnavailable')
    await expect(translated(() => Promise.reject(error))).rejects.toMatchObject({
      message: 'Neo4j does not answer',
      hint: 'Is the server running, and are scheme, host and port of the address right?',
      cause: error,
    })
  })

  it.each(['Neo.TransientError.Transaction.DeadlockDetected', 'SessionExpired'])(
    'OPS-8 what the driver calls passing is tried again, with more time between: %s',
    async (state) => {
      const waits: number[] = []
      const answers = [thrown(state), thrown(state), 'done']
      const run = async () => {
        const answer = answers.shift()
        if (answer instanceof Error) throw answer
        return answer
      }
      expect(await retried(run, async (ms) => waits.push(ms))).toBe('done')
      expect(waits).toEqual([500, 1_000])
    },
  )

  it('OPS-8 what goes on failing is thrown within 15 s, and what cannot pass at once', async () => {
    const waits: number[] = []
    const failing = (state: string) =>
      retried(
        () => Promise.reject(thrown(state)),
        async (ms) => waits.push(ms),
      )
    await expect(failing('SessionExpired')).rejects.toMatchObject({ code: 'SessionExpired' })
    expect(waits).toEqual([500, 1_000, 2_000, 4_000])
    for (const state of ['Neo.ClientError.Cluster.NotALeader', 'ServiceUnavailable'])
      await expect(failing(state)).rejects.toMatchObject({ code: state })
    expect(waits).toHaveLength(4)
  })

  it('OPS-8 what nobody knows is thrown as it is', async () => {
    const error = thrown('Neo.ClientError.Statement.SyntaxError')
    await expect(translated(() => Promise.reject(error))).rejects.toBe(error)
  })

  it('C12 a constraint that another call was faster at is a collision, a wrong statement is none', () => {
    expect(isCollision(thrown('Neo.ClientError.Schema.ConstraintValidationFailed'))).toBe(true)
    expect(isCollision(thrown('Neo.ClientError.Statement.EntityNotFound'))).toBe(true)
    expect(isCollision(thrown('Neo.ClientError.Statement.SyntaxError'))).toBe(false)
  })

  it('OPS-8 a server older than Neo4j 5 is refused, and one named by its year is not', () => {
    expect(() => requireVersion('4.4.40')).toThrow(expect.objectContaining({ code: 'NOT_SUPPORTED' }))
    expect(() => requireVersion('5.26.0')).not.toThrow()
    expect(() => requireVersion('2025.04.0')).not.toThrow()
  })
})
