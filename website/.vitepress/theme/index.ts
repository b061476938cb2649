import type { Theme } from 'vitepress'
// Without the web fonts of the full theme: the fonts of the reader's system.
import DefaultTheme from 'vitepress/theme-without-fonts'
import RescueCalculator from '../../rescue-calculator.vue'
import RetrySchedule from '../../retry-schedule.vue'
import './style.css'

export default {
  extends: DefaultTheme,
  enhanceApp({ app }) {
    app.component('RescueCalculator', RescueCalculator)
    app.component('RetrySchedule', RetrySchedule)
  },
} satisfies Theme
