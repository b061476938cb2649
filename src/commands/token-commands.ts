// Tokens of the HTTP API: made, listed, revoked. The secret is answered once and kept nowhere; the database has its digest.
import { createHash, randomBytes } from 'node:crypto'
import type { AccessStore, TokenRecord } from '../store/access-store.ts'
import { isScope, type Role, roles, type Scope } from './actor.ts'
import { command, done, refused } from './command.ts'

export interface NewTokenInput {
  name: string
  /** Excludes `scopes`. */
  role?: Role | undefined
  scopes?: readonly string[] | undefined
  owner?: string | undefined
  expiresInMs?: number | undefined
}

export interface CreatedToken {
  token: TokenRecord
  secret: string
}

const PREFIX = 'unstuck_'

export const digestOf = (secret: string) => createHash('sha256').update(secret).digest('hex')

export function createTokenCommands(access: AccessStore) {
  return {
    createToken: command('createToken', async ({ actor }, input: NewTokenInput) => {
      const { name, role, scopes, owner, expiresInMs } = input
      if ((role === undefined) === (scopes === undefined))
        return refused('INVALID_ARGUMENT', 'a token takes either a role or scopes')
      const wanted: readonly string[] = role === undefined ? (scopes ?? []) : roles[role]
      const unknown = wanted.find((scope) => !isScope(scope))
      if (unknown !== undefined) return refused('INVALID_ARGUMENT', `scopes: ${unknown.slice(0, 64)} is none`)
      const missing = wanted.find((scope) => !actor.scopes.includes(scope as Scope))
      if (missing !== undefined)
        return refused(
          'FORBIDDEN',
          `${actor.id} cannot give away the scope ${missing}, which it does not have`,
        )
      const secret = PREFIX + randomBytes(32).toString('base64url')
      const isCreated = await access.createToken({
        name,
        sha256: digestOf(secret),
        scopes: [...new Set(wanted)],
        actor: actor.id,
        ...(owner === undefined ? {} : { owner }),
        ...(expiresInMs === undefined ? {} : { expiresInMs }),
      })
      const token = (await access.listTokens()).find((other) => other.name === name)
      if (!isCreated || token === undefined)
        return refused('STATE_CONFLICT', `a token is called ${name} already; a revoked one keeps its name`)
      return done<CreatedToken>({ token, secret })
    }),

    listTokens: command('listTokens', async () => done<TokenRecord[]>(await access.listTokens())),

    revokeToken: command('revokeToken', async ({ actor }, name: string) => {
      const isRevoked = await access.revokeToken(name, actor.id)
      const token = (await access.listTokens()).find((other) => other.name === name)
      if (!isRevoked || token === undefined)
        return refused('NOT_FOUND', `no token that works is called ${name.slice(0, 64)}`)
      return done<TokenRecord>(token)
    }),
  }
}
