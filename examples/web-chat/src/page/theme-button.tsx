import { useEffect, useState } from "react";
import { Icon, type IconName } from "./icons.js";

const themes = ["auto", "light", "dark"] as const;
type Theme = (typeof themes)[number];
const icons: Readonly<Record<Theme, IconName>> = { auto: "auto", light: "sun", dark: "moon" };

/** Switches between the system's colours, light and dark. */
export function ThemeButton() {
  const [theme, setTheme] = useState(storedTheme);
  useEffect(() => {
    document.documentElement.dataset["theme"] = theme;
    localStorage.setItem("theme", theme);
  }, [theme]);
  const next = themes[(themes.indexOf(theme) + 1) % themes.length] ?? "auto";
  return (
    <button
      type="button"
      className="quiet"
      aria-label={`Colours: ${theme}. Switch to ${next}`}
      title={`Colours: ${theme}`}
      onClick={() => setTheme(next)}
    >
      <Icon name={icons[theme]} />
    </button>
  );
}

function storedTheme(): Theme {
  const stored = localStorage.getItem("theme");
  return themes.find((theme) => theme === stored) ?? "auto";
}
