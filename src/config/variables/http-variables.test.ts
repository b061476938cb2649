import { describe, expect, it } from 'vitest'
import { loadConfig } from '../index.ts'

describe('the settings of the HTTP API', () => {
  it('OPS-8 have safe defaults: this machine alone, no issuer, and a token for the metrics', () => {
    const { http } = loadConfig({ env: {} })
    expect(http).toMatchObject({
      host: '127.0.0.1',
      port: 4700,
      readOnly: '0',
      publicMetrics: '0',
      jwtIssuer: null,
    })
  })

  it('OPS-8 come from the environment or the file, and the secret is shown to nobody', () => {
    const secret = 'a secret of at least thirty-two bytes'
    const { http, values } = loadConfig({
      env: { UNSTUCK_JWT_SECRET: secret, UNSTUCK_READ_ONLY: '1' },
      file: { http: { port: 8080, environment: 'staging' } },
    })
    expect(http).toMatchObject({ port: 8080, environment: 'staging', jwtSecret: secret, readOnly: '1' })
    expect(JSON.stringify(values)).not.toContain(secret)
  })

  it('OPS-8 a word that is neither yes nor no is refused by its name', () => {
    expect(() => loadConfig({ env: { UNSTUCK_READ_ONLY: 'yes' } })).toThrow(
      'UNSTUCK_READ_ONLY: got "yes", takes 0 or 1',
    )
  })

  it('OPS-8 a trusted proxy is nobody unless it is named', () => {
    expect(loadConfig({ env: {} }).http).toMatchObject({
      proxyHeader: null,
      proxyFrom: null,
      proxyRoles: null,
    })
    const env = { UNSTUCK_PROXY_HEADER: 'x-forwarded-user', UNSTUCK_PROXY_FROM: '10.0.0.0/8' }
    const { http } = loadConfig({ env, file: { http: { proxyRoles: '*=viewer' } } })
    expect(http).toMatchObject({
      proxyHeader: 'x-forwarded-user',
      proxyFrom: '10.0.0.0/8',
      proxyRoles: '*=viewer',
    })
  })
})
