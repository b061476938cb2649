import { runDemo } from '../demo/run-demo.ts'

export async function demoCommand(): Promise<void> {
  await runDemo()
}
