// Two ways to draw many dots: WebGL for large tables, a plain canvas otherwise. Both offer
// paint({colours, shapes, order}) and draw(view, size, opacity): view = {x, y, scale, width, height, ratio}.

const VERTEX = `#version 300 es
in vec2 place; in vec4 colour; in float shape;
uniform vec2 middle; uniform vec2 scale; uniform float size;
out vec4 shade; flat out int form;
void main() {
  gl_Position = vec4((place - middle) * scale, 0.0, 1.0);
  gl_PointSize = colour.a > 0.0 ? size : 0.0;
  if (colour.a == 0.0) gl_Position = vec4(2.0, 2.0, 2.0, 1.0);
  shade = colour; form = int(shape);
}`;

const FRAGMENT = `#version 300 es
precision highp float;
in vec4 shade; flat in int form; uniform float opacity; uniform float size; out vec4 pixel;
void main() {
  vec2 p = gl_PointCoord * 2.0 - 1.0;
  float distance = length(p);
  if (form == 1) distance = max(abs(p.x), abs(p.y)) * 1.15;
  if (form == 2) distance = max(abs(p.x) * 1.2 - (p.y - 1.0) * 0.6, p.y + 0.35);
  if (form == 3) distance = abs(p.x) + abs(p.y);
  float edge = 2.0 / max(size, 1.0);
  float cover = 1.0 - smoothstep(1.0 - edge, 1.0, distance);
  if (cover <= 0.0) discard;
  pixel = vec4(shade.rgb, 1.0) * cover * opacity;
}`;

function glPoints(canvas, x, y) {
  const gl = canvas.getContext('webgl2', { alpha: true, antialias: false, premultipliedAlpha: true });
  if (!gl) return null;
  const program = gl.createProgram();
  for (const [kind, source] of [[gl.VERTEX_SHADER, VERTEX], [gl.FRAGMENT_SHADER, FRAGMENT]]) {
    const shader = gl.createShader(kind);
    gl.shaderSource(shader, source);
    gl.compileShader(shader);
    gl.attachShader(program, shader);
  }
  gl.linkProgram(program);
  if (!gl.getProgramParameter(program, gl.LINK_STATUS)) return null;
  gl.useProgram(program);

  const count = x.length;
  const places = new Uint16Array(2 * count);
  for (let i = 0; i < count; i++) {
    places[2 * i] = x[i];
    places[2 * i + 1] = y[i];
  }
  const attribute = (name, width, type, normalised) => {
    const buffer = gl.createBuffer();
    const at = gl.getAttribLocation(program, name);
    gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
    gl.enableVertexAttribArray(at);
    gl.vertexAttribPointer(at, width, type, normalised, 0, 0);
    return (data) => {
      gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
      gl.bufferData(gl.ARRAY_BUFFER, data, gl.DYNAMIC_DRAW);
    };
  };
  attribute('place', 2, gl.UNSIGNED_SHORT, false)(places);
  const setColours = attribute('colour', 4, gl.UNSIGNED_BYTE, true);
  const setShapes = attribute('shape', 1, gl.UNSIGNED_BYTE, false);
  gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, gl.createBuffer());
  gl.enable(gl.BLEND);
  gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
  const uniform = (name) => gl.getUniformLocation(program, name);
  const at = { middle: uniform('middle'), scale: uniform('scale'), size: uniform('size'), opacity: uniform('opacity') };
  let ordered = false;
  return {
    kind: 'webgl',
    canvas,
    paint({ colours, shapes, order }) {
      setColours(colours);
      setShapes(shapes);
      ordered = order !== null;
      if (ordered) gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, order, gl.DYNAMIC_DRAW);
    },
    draw(view, size, opacity) {
      gl.viewport(0, 0, canvas.width, canvas.height);
      gl.clearColor(0, 0, 0, 0);
      gl.clear(gl.COLOR_BUFFER_BIT);
      gl.uniform2f(at.middle, view.x, view.y);
      gl.uniform2f(at.scale, (2 * view.scale) / view.width, (2 * view.scale) / view.height);
      gl.uniform1f(at.size, size * view.ratio);
      gl.uniform1f(at.opacity, opacity);
      if (ordered) gl.drawElements(gl.POINTS, count, gl.UNSIGNED_INT, 0);
      else gl.drawArrays(gl.POINTS, 0, count);
    },
  };
}

// WebGL for many dots if the machine has it. A canvas that has been asked for WebGL draws nothing else ever after, so
// falling back, also when WebGL is lost later, begins with a fresh canvas; `changed` then has to paint again.
function startPoints(canvas, x, y, many, changed) {
  const plain = () => {
    const fresh = canvas.cloneNode();
    canvas.replaceWith(fresh);
    return canvasPoints(fresh, x, y);
  };
  if (!many) return canvasPoints(canvas, x, y);
  const drawn = glPoints(canvas, x, y);
  if (!drawn) return plain();
  canvas.addEventListener('webglcontextlost', () => changed(plain()), { once: true });
  return drawn;
}

function canvasPoints(canvas, x, y) {
  const context = canvas.getContext('2d');
  let painted = null;
  return {
    kind: 'canvas',
    canvas,
    paint(next) {
      painted = next;
    },
    draw(view, size, opacity) {
      context.setTransform(view.ratio, 0, 0, view.ratio, 0, 0);
      context.clearRect(0, 0, view.width, view.height);
      context.globalAlpha = opacity;
      const { colours, shapes, order } = painted;
      const radius = size / 2;
      let last = -1;
      for (let k = 0; k < x.length; k++) {
        const i = order ? order[k] : k;
        if (colours[4 * i + 3] === 0) continue;
        const px = (x[i] - view.x) * view.scale + view.width / 2;
        const py = (view.y - y[i]) * view.scale + view.height / 2;
        if (px < -size || py < -size || px > view.width + size || py > view.height + size) continue;
        const colour = (colours[4 * i] << 16) | (colours[4 * i + 1] << 8) | colours[4 * i + 2];
        if (colour !== last) context.fillStyle = `#${colour.toString(16).padStart(6, '0')}`;
        last = colour;
        drawShape(context, shapes[i], px, py, radius);
      }
    },
  };
}

function drawShape(context, shape, x, y, radius) {
  if (shape === 1 || radius < 1.2) {
    context.fillRect(x - 0.87 * radius, y - 0.87 * radius, 1.74 * radius, 1.74 * radius);
    return;
  }
  context.beginPath();
  if (shape === 2) {
    context.moveTo(x, y - radius);
    context.lineTo(x + radius, y + 0.75 * radius);
    context.lineTo(x - radius, y + 0.75 * radius);
  } else if (shape === 3) {
    context.moveTo(x, y - radius);
    context.lineTo(x + radius, y);
    context.lineTo(x, y + radius);
    context.lineTo(x - radius, y);
  } else {
    context.arc(x, y, radius, 0, 2 * Math.PI);
  }
  context.fill();
}
