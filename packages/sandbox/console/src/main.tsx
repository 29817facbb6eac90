import { render } from 'preact'
import { App } from './app.tsx'
import { connect } from './connection.ts'
import './style.css'

render(<App />, document.querySelector('#app') as HTMLElement)
void connect()
