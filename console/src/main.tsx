import { render } from 'preact'
import './style/base.css'
import './style/frame.css'
import './style/phone.css'
import './style/pages.css'
import { App } from './frame.tsx'
import { applyTheme } from './theme.ts'

applyTheme()
const app = document.getElementById('app')
if (app) render(<App />, app)
