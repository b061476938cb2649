import { defineConfig } from 'vitest/config'
import whole from '../vitest.config.ts'
import { leftToAll } from './support/suites.ts'

export default defineConfig({ test: { ...whole.test, include: leftToAll } })
