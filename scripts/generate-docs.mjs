// @ts-check
// Writes the reference pages that are made from tables in the code; test/parity holds them to it.
import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const { renderConfigReference } = await import('../dist/config/index.js')
const page = fileURLToPath(new URL('../docs/reference/config.md', import.meta.url))
writeFileSync(page, renderConfigReference())
console.log('docs/reference/config.md')

const { renderHttpReference } = await import('../dist/http/http-reference.js')
const httpPage = fileURLToPath(new URL('../docs/reference/http.md', import.meta.url))
writeFileSync(httpPage, renderHttpReference())
console.log('docs/reference/http.md')
