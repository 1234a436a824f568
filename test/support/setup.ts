/** Read before each test file; what it imports is read once a process. */
import "./equal-bytes.js";
