// Long: needs django-oauth-toolkit, which is written in Python.
import { checkServers } from './checks.ts'
import { startPython } from './own-process.ts'

checkServers({
  name: 'django-oauth-toolkit',
  decodesBasic: true,
  knowsClients: true,
  refusal: 'invalid_client',
  tokenPath: '/o/token/',
  // version 1 redirects to metadata with a slash at the end of the path
  issuerPath: '/o',
  // its views for APIs refuse a token by 403
  revocation: { path: '/o/revoke_token/', status: 403 },
  start: (registered, run) =>
    startPython('django-server.py', 'python3-django-oauth-toolkit', registered, run),
})
