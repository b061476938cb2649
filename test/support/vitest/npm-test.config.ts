import { mergeConfig } from 'vitest/config'
import whole from '../../../vitest.config.ts'
import { leftToAll } from './suites.ts'

export default mergeConfig(whole, { test: { exclude: leftToAll } })
