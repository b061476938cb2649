import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { App } from './app.tsx'
import './shell/theme.css'

const root = document.getElementById('root')
if (root === null) throw new Error('The element #root is missing.')
createRoot(root).render(
  <StrictMode>
    <App />
  </StrictMode>,
)
