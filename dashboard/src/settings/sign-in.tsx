import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { messageOf } from '../api/client.ts'
import { signIn } from '../api/commands.ts'
import { reconnect } from '../api/live.ts'
import { Button } from '../ui/button.tsx'
import { Field, Problem } from '../ui/field.tsx'
import { Command } from '../ui/page.tsx'

export function SignInPage() {
  const client = useQueryClient()
  const [token, setToken] = useState('')
  const [problem, setProblem] = useState<string | null>(null)
  const submit = async () => {
    try {
      await signIn(token.trim())
      reconnect()
      await client.invalidateQueries()
    } catch (error) {
      setProblem(messageOf(error))
    }
  }
  return (
    <main className="grid min-h-dvh place-items-center p-4">
      <form
        className="panel flex w-full max-w-sm flex-col gap-4 p-6"
        onSubmit={(event) => {
          event.preventDefault()
          void submit()
        }}
      >
        <h1 className="text-lg font-semibold">unstuck</h1>
        <Field isFirst type="password" label="Token" value={token} onChange={setToken} />
        {problem === null ? null : <Problem>{problem}</Problem>}
        <Button type="submit" kind="main">
          Sign in
        </Button>
        <p className="text-xs text-soft">
          The operator of the server creates one: <Command>unstuck tokens create</Command>
        </p>
      </form>
    </main>
  )
}
