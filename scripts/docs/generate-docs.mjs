// @ts-check
// Writes the generated reference pages. test/repository/parity checks that they are up to date.
import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const { renderConfigReference } = await import('../../dist/config/index.js')
const page = fileURLToPath(new URL('../../docs/reference/config.md', import.meta.url))
writeFileSync(page, renderConfigReference())
console.log('docs/reference/config.md')

const { renderHttpReference } = await import('../../dist/http/openapi/http-reference.js')
const httpPage = fileURLToPath(new URL('../../docs/reference/http.md', import.meta.url))
writeFileSync(httpPage, renderHttpReference())
console.log('docs/reference/http.md')

const { renderClientSource } = await import('../../dist/http/openapi/client-source.js')
const clientTypes = fileURLToPath(new URL('../../src/http/client/operations.generated.ts', import.meta.url))
writeFileSync(clientTypes, renderClientSource())
console.log('src/http/client/operations.generated.ts')

const { renderCliReference } = await import('../../dist/cli/reference/cli-reference.js')
const cliPage = fileURLToPath(new URL('../../docs/reference/cli.md', import.meta.url))
writeFileSync(cliPage, await renderCliReference())
console.log('docs/reference/cli.md')

const { renderApiReference } = await import('./api-reference.mjs')
const apiPage = fileURLToPath(new URL('../../docs/reference/api.md', import.meta.url))
writeFileSync(apiPage, renderApiReference())
console.log('docs/reference/api.md')
