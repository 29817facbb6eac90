import { testServer } from '@tokenlane/testing/server-story'

testServer(new URL('main.ts', import.meta.url))
