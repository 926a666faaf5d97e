// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

/// A path tracer in fixed-point arithmetic on signed 256-bit words: spheres and triangles, diffuse,
/// mirror and glass surfaces, a pseudo-random generator, recursion and structs in memory. It does
/// what path tracers in contracts are known for: almost nothing but arithmetic, jumps and memory.
contract Snailtracer {
    int256 private constant UNIT = 1e6;
    int256 private constant EPSILON = 1e3;
    int256 private constant FAR = 1e18;
    uint256 private constant BOUNCES_MAX = 6;

    enum Surface {
        Diffuse,
        Mirror,
        Glass
    }

    struct Vector {
        int256 x;
        int256 y;
        int256 z;
    }

    struct Ray {
        Vector origin;
        Vector direction;
        uint256 depth;
    }

    struct Sphere {
        int256 radius;
        Vector center;
        Vector emission;
        Vector color;
        Surface surface;
    }

    struct Triangle {
        Vector a;
        Vector b;
        Vector c;
        Vector normal;
        Vector color;
        Surface surface;
    }

    struct Hit {
        int256 distance;
        Vector normal;
        Vector emission;
        Vector color;
        Surface surface;
    }

    struct Scene {
        Sphere[] spheres;
        Triangle[] triangles;
        uint256 seed;
    }

    /// Renders `samples` paths through each pixel of a square picture; returns the sum of colours.
    function render(uint256 size, uint256 samples)
        external
        pure
        returns (uint256 red, uint256 green, uint256 blue)
    {
        Scene memory scene = build();
        for (uint256 y = 0; y < size; y++) {
            for (uint256 x = 0; x < size; x++) {
                Vector memory color = pixel(scene, int256(x), int256(y), int256(size), samples);
                red += uint256(clamp(color.x));
                green += uint256(clamp(color.y));
                blue += uint256(clamp(color.z));
            }
        }
    }

    function build() private pure returns (Scene memory scene) {
        scene.seed = 4242;
        scene.spheres = new Sphere[](6);
        Vector memory black = Vector(0, 0, 0);
        scene.spheres[0] = Sphere(
            100_000_000, Vector(0, -100_000_000, 60_000_000), black,
            Vector(750_000, 750_000, 750_000), Surface.Diffuse
        );
        scene.spheres[1] = Sphere(
            9_000_000, Vector(-14_000_000, 9_000_000, 62_000_000), black,
            Vector(999_000, 999_000, 999_000), Surface.Mirror
        );
        scene.spheres[2] = Sphere(
            9_000_000, Vector(13_000_000, 9_000_000, 52_000_000), black,
            Vector(999_000, 999_000, 999_000), Surface.Glass
        );
        scene.spheres[3] = Sphere(
            5_000_000, Vector(0, 5_000_000, 44_000_000), black,
            Vector(750_000, 250_000, 250_000), Surface.Diffuse
        );
        scene.spheres[4] = Sphere(
            60_000_000, Vector(0, 130_000_000, 60_000_000), Vector(9_000_000, 9_000_000, 9_000_000),
            black, Surface.Diffuse
        );
        scene.spheres[5] = Sphere(
            100_000_000, Vector(0, 20_000_000, 230_000_000), black,
            Vector(250_000, 250_000, 750_000), Surface.Diffuse
        );
        scene.triangles = new Triangle[](4);
        Vector memory apex = Vector(0, 26_000_000, 78_000_000);
        Vector memory left = Vector(-11_000_000, 4_000_000, 70_000_000);
        Vector memory right = Vector(11_000_000, 4_000_000, 70_000_000);
        Vector memory back = Vector(0, 4_000_000, 92_000_000);
        Vector memory gold = Vector(900_000, 700_000, 200_000);
        scene.triangles[0] = face(apex, left, right, gold, Surface.Diffuse);
        scene.triangles[1] = face(apex, right, back, gold, Surface.Mirror);
        scene.triangles[2] = face(apex, back, left, gold, Surface.Diffuse);
        scene.triangles[3] = face(left, back, right, gold, Surface.Diffuse);
    }

    function face(
        Vector memory a, Vector memory b, Vector memory c, Vector memory color, Surface surface
    ) private pure returns (Triangle memory) {
        return Triangle(a, b, c, normalize(cross(subtract(b, a), subtract(c, a))), color, surface);
    }

    function pixel(Scene memory scene, int256 x, int256 y, int256 size, uint256 samples)
        private
        pure
        returns (Vector memory sum)
    {
        for (uint256 sample = 0; sample < samples; sample++) {
            int256 dx = ((2 * x - size) * UNIT + draw(scene, UNIT)) / (2 * size);
            int256 dy = ((size - 2 * y) * UNIT + draw(scene, UNIT)) / (2 * size);
            Vector memory direction = normalize(Vector(dx, dy - 150_000, UNIT));
            Ray memory ray = Ray(Vector(0, 20_000_000, -20_000_000), direction, 0);
            sum = add(sum, divide(radiance(scene, ray), int256(samples)));
        }
    }

    function radiance(Scene memory scene, Ray memory ray) private pure returns (Vector memory) {
        if (ray.depth > BOUNCES_MAX) return Vector(0, 0, 0);
        Hit memory hit = trace(scene, ray);
        if (hit.distance == FAR) return Vector(90_000, 120_000, 160_000);
        Vector memory color = hit.color;
        int256 brightest = max(color.x, max(color.y, color.z));
        if (ray.depth > 3) {
            if (draw(scene, UNIT) >= brightest) return hit.emission;
            color = divide(scale(color, UNIT), brightest);
        }
        Vector memory light;
        if (hit.surface == Surface.Diffuse) light = diffuse(scene, ray, hit);
        else if (hit.surface == Surface.Mirror) light = mirror(scene, ray, hit);
        else light = glass(scene, ray, hit);
        return add(hit.emission, divide(multiply(color, light), UNIT));
    }

    function diffuse(Scene memory scene, Ray memory ray, Hit memory hit)
        private
        pure
        returns (Vector memory)
    {
        Vector memory normal = facing(hit.normal, ray.direction);
        int256 cosine = draw(scene, 2 * UNIT) - UNIT;
        int256 u = draw(scene, 2 * UNIT) - UNIT;
        int256 v = draw(scene, 2 * UNIT) - UNIT;
        Vector memory direction = normalize(
            add(normalize(Vector(cosine, u, v)), scale(normal, 1))
        );
        if (dot(direction, normal) <= 0) direction = normal;
        return radiance(scene, bounce(ray, hit, direction));
    }

    function mirror(Scene memory scene, Ray memory ray, Hit memory hit)
        private
        pure
        returns (Vector memory)
    {
        return radiance(scene, bounce(ray, hit, reflect(ray.direction, hit.normal)));
    }

    function glass(Scene memory scene, Ray memory ray, Hit memory hit)
        private
        pure
        returns (Vector memory)
    {
        Vector memory normal = facing(hit.normal, ray.direction);
        bool into = dot(hit.normal, normal) > 0;
        int256 ratio = into ? int256(666_666) : int256(1_500_000);
        int256 cosine = -dot(ray.direction, normal) / UNIT;
        int256 sine2 = (ratio * ratio / UNIT) * (UNIT - cosine * cosine / UNIT) / UNIT;
        if (sine2 >= UNIT) return mirror(scene, ray, hit);
        int256 inner = root(uint256((UNIT - sine2) * UNIT));
        Vector memory refracted = normalize(
            add(
                divide(scale(ray.direction, ratio), UNIT),
                divide(scale(normal, ratio * cosine / UNIT - inner), UNIT)
            )
        );
        int256 c = UNIT - (into ? cosine : inner);
        int256 reflected = 40_000 + 960_000 * (c * c / UNIT) / UNIT * (c * c / UNIT) / UNIT * c / UNIT / UNIT;
        if (draw(scene, UNIT) < reflected) return mirror(scene, ray, hit);
        return radiance(scene, bounce(ray, hit, refracted));
    }

    function bounce(Ray memory ray, Hit memory hit, Vector memory direction)
        private
        pure
        returns (Ray memory)
    {
        Vector memory at = add(ray.origin, divide(scale(ray.direction, hit.distance), UNIT));
        Vector memory off = divide(scale(direction, EPSILON), UNIT);
        return Ray(add(at, off), direction, ray.depth + 1);
    }

    function trace(Scene memory scene, Ray memory ray) private pure returns (Hit memory hit) {
        hit.distance = FAR;
        for (uint256 i = 0; i < scene.spheres.length; i++) {
            Sphere memory sphere = scene.spheres[i];
            int256 distance = meetSphere(sphere, ray);
            if (distance <= 0 || distance >= hit.distance) continue;
            Vector memory at = add(ray.origin, divide(scale(ray.direction, distance), UNIT));
            hit.distance = distance;
            hit.normal = normalize(subtract(at, sphere.center));
            hit.emission = sphere.emission;
            hit.color = sphere.color;
            hit.surface = sphere.surface;
        }
        for (uint256 i = 0; i < scene.triangles.length; i++) {
            Triangle memory triangle = scene.triangles[i];
            int256 distance = meetTriangle(triangle, ray);
            if (distance <= 0 || distance >= hit.distance) continue;
            hit.distance = distance;
            hit.normal = triangle.normal;
            hit.emission = Vector(0, 0, 0);
            hit.color = triangle.color;
            hit.surface = triangle.surface;
        }
    }

    function meetSphere(Sphere memory sphere, Ray memory ray) private pure returns (int256) {
        Vector memory to = subtract(sphere.center, ray.origin);
        int256 b = dot(to, ray.direction) / UNIT;
        int256 discriminant = b * b - dot(to, to) + sphere.radius * sphere.radius;
        if (discriminant < 0) return 0;
        int256 half = root(uint256(discriminant));
        if (b - half > EPSILON) return b - half;
        return b + half > EPSILON ? b + half : int256(0);
    }

    function meetTriangle(Triangle memory triangle, Ray memory ray) private pure returns (int256) {
        Vector memory edge1 = subtract(triangle.b, triangle.a);
        Vector memory edge2 = subtract(triangle.c, triangle.a);
        Vector memory p = cross(ray.direction, edge2);
        int256 determinant = dot(edge1, p) / UNIT;
        if (determinant > -EPSILON && determinant < EPSILON) return 0;
        Vector memory t = subtract(ray.origin, triangle.a);
        int256 u = dot(t, p) / determinant;
        if (u < 0 || u > UNIT) return 0;
        Vector memory q = cross(t, edge1);
        int256 v = dot(ray.direction, q) / determinant;
        if (v < 0 || u + v > UNIT) return 0;
        int256 distance = dot(edge2, q) / determinant;
        return distance > EPSILON ? distance : int256(0);
    }

    function facing(Vector memory normal, Vector memory direction)
        private
        pure
        returns (Vector memory)
    {
        return dot(normal, direction) < 0 ? normal : scale(normal, -1);
    }

    function reflect(Vector memory direction, Vector memory normal)
        private
        pure
        returns (Vector memory)
    {
        int256 twice = 2 * dot(normal, direction) / UNIT;
        return normalize(subtract(direction, divide(scale(normal, twice), UNIT)));
    }

    function draw(Scene memory scene, int256 limit) private pure returns (int256) {
        unchecked {
            scene.seed = 1_103_515_245 * scene.seed + 12_345;
            return int256((scene.seed >> 16) % uint256(limit));
        }
    }

    function add(Vector memory a, Vector memory b) private pure returns (Vector memory) {
        return Vector(a.x + b.x, a.y + b.y, a.z + b.z);
    }

    function subtract(Vector memory a, Vector memory b) private pure returns (Vector memory) {
        return Vector(a.x - b.x, a.y - b.y, a.z - b.z);
    }

    function multiply(Vector memory a, Vector memory b) private pure returns (Vector memory) {
        return Vector(a.x * b.x, a.y * b.y, a.z * b.z);
    }

    function scale(Vector memory a, int256 by) private pure returns (Vector memory) {
        return Vector(a.x * by, a.y * by, a.z * by);
    }

    function divide(Vector memory a, int256 by) private pure returns (Vector memory) {
        return Vector(a.x / by, a.y / by, a.z / by);
    }

    function dot(Vector memory a, Vector memory b) private pure returns (int256) {
        return a.x * b.x + a.y * b.y + a.z * b.z;
    }

    function cross(Vector memory a, Vector memory b) private pure returns (Vector memory) {
        return Vector(
            (a.y * b.z - a.z * b.y) / UNIT,
            (a.z * b.x - a.x * b.z) / UNIT,
            (a.x * b.y - a.y * b.x) / UNIT
        );
    }

    function normalize(Vector memory a) private pure returns (Vector memory) {
        int256 length = root(uint256(dot(a, a)));
        if (length == 0) return Vector(0, UNIT, 0);
        return divide(scale(a, UNIT), length);
    }

    function root(uint256 square) private pure returns (int256) {
        uint256 guess = (square + 1) / 2;
        uint256 result = square;
        while (guess < result) {
            result = guess;
            guess = (square / guess + guess) / 2;
        }
        return int256(result);
    }

    function max(int256 a, int256 b) private pure returns (int256) {
        return a > b ? a : b;
    }

    function clamp(int256 value) private pure returns (int256) {
        if (value < 0) return 0;
        return value > UNIT ? UNIT : value;
    }
}
