// Saves the picture as SVG or PNG, and the record as JSON.

import { saveFile } from "./dom.js";

const INHERITED = ["fill", "stroke", "stroke-width", "stroke-dasharray", "opacity", "fill-opacity", "font-size", "font-family", "font-weight", "font-style", "stroke-linecap", "stroke-linejoin", "paint-order", "display"];

// A copy that stands alone: style sheets are not saved with it, so each element carries what they say.
function standalone(svg) {
  const copy = svg.cloneNode(true);
  const from = svg.querySelectorAll("*");
  copy.querySelectorAll("*").forEach((element, i) => {
    const style = getComputedStyle(from[i]);
    for (const name of INHERITED) {
      const value = style.getPropertyValue(name);
      if (value && value !== "none" || name === "fill" || name === "stroke") element.setAttribute(name, value);
    }
    for (const name of ["class", "tabindex", "role", "data-key", "data-row"]) element.removeAttribute(name);
  });
  const [, , width, height] = svg.getAttribute("viewBox").split(" ");
  copy.setAttribute("width", width);
  copy.setAttribute("height", height);
  const paper = document.createElementNS("http://www.w3.org/2000/svg", "rect");
  paper.setAttribute("width", "100%");
  paper.setAttribute("height", "100%");
  paper.setAttribute("fill", getComputedStyle(document.documentElement).getPropertyValue("--paper").trim() || "#fff");
  copy.prepend(paper);
  return { text: new XMLSerializer().serializeToString(copy), width: Number(width), height: Number(height) };
}

export const saveSvg = (svg, name) => saveFile(`${name}.svg`, "image/svg+xml", standalone(svg).text);

export async function savePng(svg, name) {
  const { text, width, height } = standalone(svg);
  const image = new Image();
  image.src = `data:image/svg+xml;base64,${btoa(String.fromCharCode(...new TextEncoder().encode(text)))}`;
  await image.decode();
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [2 * width, 2 * height];
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  saveFile(`${name}.png`, "image/png", await new Promise((done) => canvas.toBlob(done)));
}

export const saveRecord = (record, name) => saveFile(`${name}.json`, "application/json", JSON.stringify(record));
